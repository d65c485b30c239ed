// SPDX-License-Identifier: Apache-2.0
// Test host: calls of OpenCV's core, video, objdetect, features2d, calib3d and photo modules, of
// windows and of video files, on a picture that it draws; prints what comes out. usage:
// hooks_opencv_modules FOLDER [errors]. Run by test_hooks_opencv_modules.py.
#include <opencv2/calib3d.hpp>
#include <opencv2/core/ocl.hpp>
#include <opencv2/features2d.hpp>
#include <opencv2/highgui.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/objdetect.hpp>
#include <opencv2/photo.hpp>
#include <opencv2/video.hpp>
#include <opencv2/videoio.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void print(const char *what, const cv::Mat &m)
{
    unsigned long sum = 0;
    for (int y = 0; y < m.rows; y++) {
        const unsigned char *row = m.ptr(y);
        for (size_t x = 0; x < m.cols * m.elemSize(); x++)
            sum = sum * 31 + row[x];
    }
    std::printf("%s: %d x %d x %d: %lu\n", what, m.cols, m.rows, m.channels(), sum);
}

static cv::Mat drawn(int shift)
{
    cv::Mat m(480, 640, CV_8UC3);
    for (int y = 0; y < m.rows; y++) {
        for (int x = 0; x < m.cols * 3; x++)
            m.ptr(y)[x] = (unsigned char)(x / 7 + y / 3 + (x * y >> 12));
    }
    for (int i = 0; i < 6; i++)
        cv::rectangle(
            m, cv::Rect(40 + i * 95 + shift, 60 + i * 60, 50, 30), cv::Scalar(250, 40 * i, 90), -1);
    cv::putText(m, "text", cv::Point(60, 440), cv::FONT_HERSHEY_SIMPLEX, 2.5,
        cv::Scalar(10, 200, 250), 5, cv::LINE_8, false);
    return m;
}

static void arithmetic(const cv::Mat &a, const cv::Mat &b)
{
    cv::Mat out, mask, floats, mean, deviation;
    std::vector<cv::Mat> planes;
    cv::add(a, b, out);
    print("add", out);
    cv::subtract(a, cv::Scalar(20, 30, 40), out, cv::noArray(), CV_16S);
    print("subtract", out);
    cv::addWeighted(a, 0.25, b, 0.75, 3.5, out);
    print("addWeighted", out);
    cv::inRange(a, cv::Scalar(0, 0, 0), cv::Scalar(120, 130, 140), mask);
    print("inRange", mask);
    cv::bitwise_and(a, b, out, mask);
    cv::multiply(a, b, floats, 1 / 255.0, CV_32F);
    print("multiply", floats);
    cv::divide(2.0, floats, floats);
    print("divide", floats);
    cv::normalize(a, floats, 0, 1, cv::NORM_MINMAX, CV_32F);
    print("normalize", floats);
    cv::meanStdDev(a, mean, deviation);
    double least = 0, most = 0;
    cv::Point where;
    cv::minMaxLoc(mask, &least, &most, nullptr, &where);
    cv::Scalar sum = cv::sum(a), middle = cv::mean(a, mask);
    std::printf("%.3f %.3f %.1f %.1f %d %d %.2f %.2f %.4f %d\n", mean.at<double>(1),
        deviation.at<double>(2), least, most, where.x, where.y, sum[1], middle[2],
        cv::norm(a, b, cv::NORM_L2), cv::countNonZero(mask));
    cv::split(a, planes);
    cv::merge(planes, out);
    cv::hconcat(a, b, out);
    print("hconcat", out);
    cv::vconcat(std::vector<cv::Mat>{a, b, a}, out);
    print("vconcat", out);
}

static void copies(const cv::Mat &a)
{
    cv::Mat out = a.clone(), part;
    out.setTo(cv::Scalar(1, 2, 3), cv::noArray());
    print("setTo", out);
    a(cv::Rect(10, 20, 300, 200)).copyTo(part);
    print("copyTo", part);
    cv::transpose(a, out);
    cv::rotate(a, out, cv::ROTATE_180);
    print("rotate", out);
    cv::reduce(a, out, 0, cv::REDUCE_AVG, CV_64F);
    cv::Mat spectrum, square = cv::Mat::eye(200, 200, CV_32F) * 2;
    cv::dft(square, spectrum, cv::DFT_COMPLEX_OUTPUT);
    cv::gemm(square, square, 1.5, cv::noArray(), 0, spectrum);
    print("gemm", spectrum);
    cv::UMat device;
    a.copyTo(device);
    cv::UMat other;
    device.copyTo(other);
    print("umat", other.getMat(cv::ACCESS_READ));
    cv::setNumThreads(2);
    std::vector<cv::Mat> parts(4);
    cv::parallel_for_(cv::Range(0, 4), [&](const cv::Range &range) {
        for (int i = range.start; i < range.end; i++) {
            const struct timespec dawdle = {
                0, 30000000}; // the other thread takes its part meanwhile
            syscall(SYS_nanosleep, &dawdle, NULL);
            cv::resize(a, parts[(size_t)i], cv::Size(200 + i, 100 + i));
        }
    });
    cv::setNumThreads(1);
    for (const cv::Mat &m : parts)
        print("parallel", m);
}

static void moving(const cv::Mat &a, const cv::Mat &b)
{
    cv::Mat one, two, flow;
    cv::cvtColor(a, one, cv::COLOR_BGR2GRAY);
    cv::cvtColor(b, two, cv::COLOR_BGR2GRAY);
    std::vector<cv::Point2f> points, moved;
    std::vector<unsigned char> status;
    std::vector<float> error;
    cv::goodFeaturesToTrack(one, points, 50, 0.01, 5);
    cv::calcOpticalFlowPyrLK(one, two, points, moved, status, error, cv::Size(15, 15), 2,
        cv::TermCriteria(cv::TermCriteria::COUNT + cv::TermCriteria::EPS, 20, 0.03), 0, 1e-4);
    double sum = 0;
    for (size_t i = 0; i < moved.size(); i++)
        sum += status[i] ? moved[i].x - points[i].x : 0;
    std::printf("%zu points, moved by %.4f\n", points.size(), sum);
    cv::calcOpticalFlowFarneback(one, two, flow, 0.5, 2, 15, 2, 5, 1.1, 0);
    print("flow", flow);
    cv::Rect window(30, 50, 60, 50);
    cv::RotatedRect found =
        cv::CamShift(one, window, cv::TermCriteria(cv::TermCriteria::COUNT, 5, 1));
    std::printf("%.2f %.2f %.2f %d %d\n", found.center.x, found.size.width, found.angle, window.x,
        window.width);
    cv::Ptr<cv::BackgroundSubtractorMOG2> subtractor = cv::createBackgroundSubtractorMOG2(10, 12.5);
    subtractor->apply(a, flow);
    print("subtractor", flow);
}

static void detecting(const cv::Mat &a)
{
    cv::HOGDescriptor hog;
    hog.setSVMDetector(cv::HOGDescriptor::getDefaultPeopleDetector());
    std::vector<cv::Rect> boxes;
    hog.detectMultiScale(a, boxes, 0.1, cv::Size(8, 8), cv::Size(0, 0), 1.2, 2.0, false);
    std::printf("%zu people\n", boxes.size());
    cv::QRCodeDetector codes;
    std::vector<cv::Point2f> corners;
    std::printf("code '%s'\n", codes.detectAndDecode(a, corners).c_str());
    cv::Ptr<cv::ORB> orb = cv::ORB::create(200);
    cv::Ptr<cv::Feature2D> base = orb;
    std::vector<cv::KeyPoint> points;
    cv::Mat descriptors, drawing;
    base->detect(a, points);
    base->compute(a, points, descriptors);
    print("descriptors", descriptors);
    std::vector<std::vector<cv::DMatch>> matches;
    cv::BFMatcher matcher(cv::NORM_HAMMING, false);
    matcher.knnMatch(descriptors, descriptors, matches, 2);
    std::printf("%zu points, %zu matches\n", points.size(), matches.size());
    cv::drawKeypoints(a, points, drawing, cv::Scalar(0, 255, 0));
    print("drawKeypoints", drawing);
}

static void mapping(const cv::Mat &a)
{
    cv::Mat camera = (cv::Mat_<double>(3, 3) << 500, 0, 320, 0, 500, 240, 0, 0, 1), out;
    cv::Mat lens = (cv::Mat_<double>(1, 5) << 0.1, -0.05, 0.001, 0.002, 0.01);
    cv::undistort(a, out, camera, lens);
    print("undistort", out);
    std::vector<cv::Point2f> from, to;
    std::vector<cv::Point3f> object;
    for (int i = 0; i < 40; i++) {
        object.emplace_back((float)(i % 8), (float)(i / 8), (float)(i % 3));
        from.emplace_back((float)(i * 13 % 640), (float)(i * 29 % 480));
        to.emplace_back(from.back().x * 0.9f + 5, from.back().y * 1.1f - 3);
    }
    print("homography", cv::findHomography(from, to, cv::RANSAC, 3.0));
    cv::Mat turn, shift;
    std::vector<cv::Point2f> seen;
    cv::projectPoints(object, cv::Vec3d(0.1, 0.2, 0.3), cv::Vec3d(1, 2, 15), camera, lens, seen);
    cv::solvePnP(object, seen, camera, lens, turn, shift);
    std::printf("%.4f %.4f\n", turn.at<double>(0), shift.at<double>(2));
    cv::fastNlMeansDenoising(a(cv::Rect(0, 0, 80, 60)), out, 5.0f, 5, 11);
    print("denoising", out);
    cv::Mat mask = cv::Mat::zeros(a.size(), CV_8U);
    mask(cv::Rect(100, 100, 10, 10)) = 255;
    cv::inpaint(a, mask, out, 3, cv::INPAINT_TELEA);
    print("inpaint", out);
    mask = cv::Scalar(cv::GC_BGD);
    cv::Mat background, foreground;
    cv::Rect zone(30, 40, 200, 120);
    cv::grabCut(a(cv::Rect(0, 0, 320, 240)).clone(), mask, zone, background, foreground, 1,
        cv::GC_INIT_WITH_RECT);
    print("grabCut", mask);
    cv::Rect box = cv::boundingRect(to);
    std::printf("%d %d %d %d\n", box.x, box.y, box.width, box.height);
}

static void video(const std::string &folder, const cv::Mat &a)
{
    const std::string path = folder + "/a.avi";
    cv::VideoWriter writer(path, cv::CAP_OPENCV_MJPEG, cv::VideoWriter::fourcc('M', 'J', 'P', 'G'),
        25.0, a.size(), true);
    for (int i = 0; i < 4; i++)
        writer.write(drawn(i));
    writer << a;
    writer.release();
    cv::VideoCapture direct(path, cv::CAP_OPENCV_MJPEG);
    cv::Mat frame;
    direct.read(frame);
    print("read", frame);
    direct >> frame;
    print("operator>>", frame);
    std::unique_ptr<cv::VideoCapture> capture(new cv::VideoCapture); // through the vtable
    std::printf("%d\n", (int)capture->open(path, cv::CAP_OPENCV_MJPEG));
    int count = 0;
    while (capture->grab() && capture->retrieve(frame))
        count++;
    std::printf("%d frames\n", count);
    print("last", frame);
}

static void windows(const cv::Mat &a)
{
    cv::namedWindow("window");
    cv::imshow("window", a);
    std::printf("key %d\n", cv::waitKey(30));
    cv::destroyWindow("window");
}

static int silent(int, const char *, const char *, const char *, int, void *)
{
    return 0;
}

// One call of each kind of hook that throws.
static int thrown(int kind)
{
    cv::Mat empty, out, m(40, 40, CV_8UC3, cv::Scalar(1, 2, 3));
    std::vector<cv::Rect> boxes;
    try {
        if (kind == 0)
            cv::add(m, cv::Mat(3, 3, CV_32F), out); // makes an array from two
        else if (kind == 1)
            std::printf("%f\n", cv::norm(m, empty)); // a number
        else if (kind == 2)
            cv::mean(m, cv::Mat(3, 3, CV_32F)); // a hidden pointer
        else if (kind == 3)
            m.copyTo(out, cv::Mat(3, 3, CV_32F)); // a member
        else if (kind == 4)
            cv::findHomography(empty, m);
        else if (kind == 5)
            cv::Ptr<cv::HOGDescriptor>(new cv::HOGDescriptor)->detectMultiScale(empty, boxes);
        else if (kind == 6)
            cv::calcOpticalFlowPyrLK(m, out, m, m, out, out);
        else if (kind == 7)
            cv::boundingRect(cv::Mat(3, 5, CV_64F)); // two registers
        else if (kind == 8)
            cv::parallel_for_(
                cv::Range(0, 3), [&](const cv::Range &) { cv::cvtColor(m, out, 9999); });
        else
            cv::grabCut(empty, out, cv::Rect(), empty, empty, 1);
    } catch (const cv::Exception &e) {
        return e.code != 0 && !e.err.empty();
    }
    return 0;
}

static void errors()
{
    int caught = 0;
    for (int i = 0; i < 300; i++)
        caught += thrown(i % 10);
    std::printf("%d of 300 caught\n", caught);
    cv::Mat out;
    cv::rotate(drawn(0), out, cv::ROTATE_90_CLOCKWISE);
    print("after", out);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    cv::ocl::setUseOpenCL(false);
    cv::setNumThreads(1);
    if (argc > 2) {
        cv::redirectError(silent);
        errors();
        return 0;
    }
    cv::Mat a = drawn(0), b = drawn(3);
    arithmetic(a, b);
    copies(a);
    moving(a, b);
    detecting(a);
    mapping(a);
    video(argv[1], a);
    windows(a);
    return 0;
}
