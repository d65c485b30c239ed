// SPDX-License-Identifier: Apache-2.0
// A folder of photographs through OpenCV as people write it: read, resize, grey, blur, threshold,
// find contours, draw, write. Run by bench/attributed.
//
//     opencv_pipeline FOLDER PHOTO...
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include <cstdio>
#include <string>
#include <vector>

static int work_on(const std::string &from, const std::string &to)
{
    const cv::Mat photo = cv::imread(from);
    if (photo.empty())
        return -1;
    cv::Mat small, grey, smooth, mask;
    cv::resize(photo, small, cv::Size(1280, 1280 * photo.rows / photo.cols), 0, 0, cv::INTER_AREA);
    cv::cvtColor(small, grey, cv::COLOR_BGR2GRAY);
    cv::GaussianBlur(grey, smooth, cv::Size(9, 9), 0);
    cv::threshold(smooth, mask, 0, 255, cv::THRESH_BINARY | cv::THRESH_OTSU);
    std::vector<std::vector<cv::Point>> contours;
    cv::findContours(mask, contours, cv::RETR_EXTERNAL, cv::CHAIN_APPROX_SIMPLE);
    int large = 0;
    for (const auto &contour : contours)
        large += cv::contourArea(contour) > 100;
    cv::drawContours(small, contours, -1, cv::Scalar(0, 0, 255), 2);
    return cv::imwrite(to, small) ? large : -1;
}

int main(int argc, char **argv)
{
    int found = 0;
    for (int i = 2; i < argc; i++) {
        const int here = work_on(argv[i], std::string(argv[1]) + "/" + std::to_string(i) + ".jpg");
        if (here < 0) {
            std::fprintf(stderr, "opencv_pipeline: cannot work on %s\n", argv[i]);
            return 1;
        }
        found += here;
    }
    std::printf("%d\n", found);
    return 0;
}
